import { AGGREGATE } from './aggregate.js'
import { ARITHMETIC } from './arithmetic.js'
import { CLINICAL } from './clinical.js'
import { COMPARISON, LOGICAL } from './logical.js'
import type { NodeCompilers } from './compiler.js'
import { EXPANSION } from './expand.js'
import { INTERVAL } from './interval.js'
import { LIST } from './list.js'
import { QUERY } from './query.js'
import { STRING } from './string.js'
import { TEMPORAL } from './temporal.js'
import { TREE } from './tree.js'
import { TYPE } from './type.js'

/** The compilers of all supported node types; to add one, add a line to the table of its family. */
export const NODE_COMPILERS: NodeCompilers = {
  ...TYPE,
  ...LOGICAL,
  ...COMPARISON,
  ...ARITHMETIC,
  ...TEMPORAL,
  ...INTERVAL,
  ...EXPANSION,
  ...LIST,
  ...QUERY,
  ...TREE,
  ...AGGREGATE,
  ...STRING,
  ...CLINICAL,
}
