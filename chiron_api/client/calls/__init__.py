"""What can be asked of the API: a function for each operation, which makes the request and sends nothing."""
