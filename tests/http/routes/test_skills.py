import httpx2


async def test_skills_are_listed_as_the_command_lists_them(client: httpx2.AsyncClient) -> None:
    items = {item["name"]: item for item in (await client.get("/v1/skills")).json()["items"]}
    shipped = items["statistics-check"]
    assert (shipped["state"], shipped["source"], shipped["trusted"]) == ("offered", "shipped", True)
    assert "statistics-check__check_mean" in shipped["tools"]
    assert "systematic-review" in items
