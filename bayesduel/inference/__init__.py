"""From a model and a log to a fit: approximations with a certificate, NUTS, robust covariances."""
