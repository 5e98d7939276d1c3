"""What the report shows, as plain data: one module per section."""
