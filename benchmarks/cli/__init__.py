"""The command line `robust-core`, one file per subcommand."""
