"""What a report tells of a recording or a sweep, and the forms of it that other programs read."""
