"""What research will cost before it is submitted: its first calls, its runs, and the budgets that cannot pay for them."""
