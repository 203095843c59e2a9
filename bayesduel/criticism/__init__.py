"""Model criticism: is the log transitive, and which model predicts it best."""
