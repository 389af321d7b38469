"""Who may speak to the page, and what it may be sent."""
