import { having, listOf, type MemberKind } from '../input/index.js'

/** What the option `languages` must be. */
export const LANGUAGES: MemberKind = listOf(having('a criteria language', ['names', 'evaluator']))
