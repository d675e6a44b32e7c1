"""Everything that trains, measures and decides; usable without a screen."""
