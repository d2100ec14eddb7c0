"""What of the ranked files fits: their forms, packed into a budget, checked on the disk."""
