def print_markdown(text: str) -> None:
    """Print Markdown as a terminal can show it: headings, lists and links instead of their marks."""
    from rich.console import Console
    from rich.markdown import Markdown

    Console().print(Markdown(text))
