from chiron_api.cli import main

main()
