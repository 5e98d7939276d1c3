"""The entry points that pytest, Hypothesis and the console script load.

An installed distribution is loaded in every run of pytest and Hypothesis in its environment, whatever that run tests.
So the modules here import the standard library only, and load the suite when somebody asks for it.
"""
