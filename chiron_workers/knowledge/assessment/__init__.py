"""Questions from facts, quizzes that ask them, the marks of answers, and when each question is to be asked again."""
