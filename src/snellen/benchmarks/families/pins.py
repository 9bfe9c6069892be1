"""The commits of the two toolkits whose code benchmarks cite, as owner/name@commit.

A benchmark that follows another commit writes it in its own file.
"""

VLMEVALKIT = "open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94"
LMMS_EVAL = "EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3"
