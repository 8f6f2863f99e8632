"""The targets of acts on batches and runs."""

from chiron_api.acts.act import Target
from chiron_api.answers.basics import Receipt
from chiron_api.answers.runs import Batch, Run, RunReceipt, RunResult

BATCH = Target("batch", (Batch, Receipt, RunReceipt))
RUN = Target("run", (Run, RunResult, RunReceipt))
