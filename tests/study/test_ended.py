"""A study that a person ends, and resumes; open tickets; what a look at a study costs."""
