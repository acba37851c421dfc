import { closurePage } from './closure.js'
import { comparePage } from './compare.js'
import { cqlPage } from './cql.js'
import { collectDataPage, dataRequirementsPage } from './data-requirements.js'
import { evaluateMeasurePage } from './evaluate-measure.js'
import { executePage } from './execute.js'
import { expandPage } from './expand.js'
import { lookupPage } from './lookup.js'
import type { OperationPage } from './operation-page.js'
import { snapshotPage } from './snapshot.js'
import { subsumesPage } from './subsumes.js'
import { translatePage } from './translate.js'
import { validateCodePage } from './validate-code.js'
import { validatePage } from './validate.js'

/** Every operation of the playground, in the order of its list. */
export const OPERATION_PAGES: readonly OperationPage[] = [
  expandPage,
  lookupPage,
  validateCodePage,
  subsumesPage,
  comparePage,
  translatePage,
  closurePage,
  validatePage,
  snapshotPage,
  evaluateMeasurePage,
  dataRequirementsPage,
  collectDataPage,
  cqlPage,
  executePage,
]
