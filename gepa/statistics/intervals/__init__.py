"""Intervals, and the resampling behind them."""
