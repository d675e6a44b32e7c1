"""The worker: the process that loads PyTorch, builds model and data, and trains. Nobody imports it."""
