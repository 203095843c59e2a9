"""What a posterior says: winners, predictions, sets of the best, and which pair to ask next."""
