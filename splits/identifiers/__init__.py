"""What points to one person: names, addresses, dates, numbers, e-mail addresses of a text."""
