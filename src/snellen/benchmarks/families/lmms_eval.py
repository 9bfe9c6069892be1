"""A system message that several of lmms-eval's tasks share."""

THINK_THEN_ANSWER = (
    "You are a helpful assistant. When the user asks a question, your response must include two "
    "parts: first, the reasoning process enclosed in <think>...</think> tags, then the final "
    "answer enclosed in <answer>...</answer> tags."
    "Please provide a clear, concise response within <answer> </answer> tags that directly "
    "addresses the question."
)
"""The system message of the tasks whose names end with `_reasoning`,
EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:lmms_eval/tasks/wemath/
reasoning/utils.py#L11-L15."""
