"""Pages of HTML without JavaScript: every text in them is shown, and none is obeyed."""
