"""Calls a server with fhir-pyrate, which makes tables of what it finds; writes a line `call<TAB>answer` for each call."""

import os
import sys
import warnings

import pandas
import requests
from fhir_pyrate import Pirate

from told import BASE, TOKEN, told

warnings.filterwarnings("ignore")
# Bars of progress, and words about the pages.
sys.stderr = open(os.devnull, "w")

session = requests.Session()
session.headers["Authorization"] = f"Bearer {TOKEN}"
pirate = Pirate(base_url=BASE, auth=session, num_processes=1, disable_multiprocessing_requests=True)


def rows(table):
    return len(table.index)


told("get_bundle_total", lambda: pirate.get_bundle_total(resource_type="Patient", request_params={"family": "Lovell"}))
told("steal_bundles", lambda: len(list(pirate.steal_bundles(resource_type="Patient", request_params={"_id": "p", "_count": 1}))))
told("steal_bundles, two pages", lambda: len(list(pirate.steal_bundles(resource_type="ValueSet", request_params={"_count": 1}, num_pages=2))))
told("steal_bundles_to_dataframe", lambda: rows(pirate.steal_bundles_to_dataframe(resource_type="Observation", request_params={"_id": "o"})))
told("steal_bundles_to_dataframe with fhir_paths", lambda: pirate.steal_bundles_to_dataframe(resource_type="Patient", request_params={"_id": "p"}, fhir_paths=[("family", "name[0].family")])["family"][0])
told("sail_through_search_space_to_dataframe", lambda: rows(pirate.sail_through_search_space_to_dataframe(resource_type="Observation", time_attribute_name="_lastUpdated", date_init="2000-01-01", date_end="2100-01-01", request_params={"_id": "o"})))
told("trade_rows_for_dataframe", lambda: rows(pirate.trade_rows_for_dataframe(df=pandas.DataFrame({"patient": ["Patient/p"]}), resource_type="Observation", df_constraints={"subject": "patient"}, request_params={"_id": "o"})))
told("query_to_dataframe", lambda: rows(pirate.query_to_dataframe(pirate.steal_bundles, resource_type="Patient", request_params={"family": "Lovell", "_sort": "_id"})))
