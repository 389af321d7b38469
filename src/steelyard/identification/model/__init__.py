"""The linear model that samples are held against, and its nonlinear shapes."""
