"""The `ray` executor: units are done by the workers of a Ray cluster (extra ``ray``).

    driver   starts workers, hands out shards, takes results, replaces workers that are lost
    worker   one actor: opens a site and does units
    texts    texts that every worker may read, put into the cluster once
    quiet    keeps what Ray says away from the results

Ray moves messages and watches processes; limits, budget and answers are the business of
`deepfact.executors.ledger`, which runs as an actor on the driver's machine.
"""
