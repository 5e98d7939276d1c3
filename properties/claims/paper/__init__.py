"""The claims of Wang and Zou (2021)."""
