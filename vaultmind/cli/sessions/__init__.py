"""Commands on conversations: kept, given context, consolidated, held with a minion."""
