"""Speed: ratios against peers and limits, measured interleaved in one run."""
