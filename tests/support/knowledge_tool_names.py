"""The names of the knowledge tools, which stay as they are: scripts and clients call them."""

TWELVE = {
    "store_knowledge",
    "vector_search",
    "get_active_subject",
    "set_active_subject",
    "list_subjects",
    "get_learning_goal",
    "save_learning_goal",
    "get_knowledge_node",
    "get_knowledge_tree",
    "save_knowledge_node",
    "get_user_progress",
    "record_assessment",
}
