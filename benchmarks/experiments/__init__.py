"""Section 6 and Appendix E of the paper: fifteen panels, their controls, and one outcome for each."""
