"""The report: `collect` what it shows as plain data, `render` it as one HTML page, `summary` of it as Markdown."""
