import {
  type CharTest,
  type ParsedRegex,
  type RegexNode,
  ignoringCase,
  range,
  codeOf,
  parseClass,
  parseEscape,
  patternReader,
  type PatternReader,
} from './char-class.js'

const MAX_PATTERN = 1_000
const MAX_DEPTH = 64
const MAX_REPEAT = 1_000

/** Options of `compileRegex`. */
export interface RegexOptions {
  /** `.` matches line ends too. Default false. */
  readonly dotAll?: boolean
}

/**
 * Parses a pattern in the common subset of PCRE, XPath and JavaScript syntax.
 *
 * @throws {OperationError} `regex-unsupported` for patterns that are malformed, too long, or not possible in linear time.
 */
export function parseRegex(pattern: string, options: RegexOptions = {}): ParsedRegex {
  const reader = patternReader(pattern)
  if (pattern.length > MAX_PATTERN) throw reader.refuse(`it is longer than ${MAX_PATTERN} characters`)
  const flags = { dotAll: options.dotAll === true, ignoreCase: false }
  const state: ParserState = { reader, flags, groups: 0, names: new Map(), depth: 0 }
  const root = parseChoice(state)
  if (reader.peek() !== '') throw reader.refuse('a closing parenthesis has no opening one')
  return { root, groups: state.groups, names: state.names }
}

/** Flags in effect up to the end of the group. */
interface Flags {
  readonly dotAll: boolean
  readonly ignoreCase: boolean
}

interface ParserState {
  readonly reader: PatternReader
  flags: Flags
  groups: number
  readonly names: Map<string, number>
  depth: number
}

function parseChoice(state: ParserState): RegexNode {
  state.depth += 1
  if (state.depth > MAX_DEPTH) throw state.reader.refuse(`its groups are nested deeper than ${MAX_DEPTH}`)
  const options = [parseSequence(state)]
  while (state.reader.take('|')) options.push(parseSequence(state))
  state.depth -= 1
  const [only] = options
  return options.length === 1 && only !== undefined ? only : { kind: 'choice', options }
}

function parseSequence(state: ParserState): RegexNode {
  const parts: RegexNode[] = []
  for (let next = state.reader.peek(); next !== '' && next !== '|' && next !== ')'; next = state.reader.peek()) {
    parts.push(parseQuantified(state))
  }
  const [only] = parts
  if (only === undefined) return { kind: 'empty' }
  return parts.length === 1 ? only : { kind: 'sequence', parts }
}

function parseQuantified(state: ParserState): RegexNode {
  const { reader } = state
  const body = parseAtom(state)
  const times = parseTimes(reader)
  if (times === undefined) return body
  if (body.kind === 'assert') throw reader.refuse('an anchor is repeated')
  const lazy = reader.take('?')
  if (!lazy && reader.peek() === '+') throw reader.refuse('possessive quantifiers are not supported')
  if (parseTimes(reader) !== undefined) throw reader.refuse('a quantifier follows a quantifier')
  return { kind: 'repeat', body, ...times, lazy }
}

function parseTimes(reader: PatternReader): { min: number; max: number } | undefined {
  if (reader.take('*')) return { min: 0, max: Infinity }
  if (reader.take('+')) return { min: 1, max: Infinity }
  if (reader.take('?')) return { min: 0, max: 1 }
  return reader.peek() === '{' ? parseBraces(reader) : undefined
}

/** Parses a quantifier in braces. A brace that begins no quantifier is plain text, as in PCRE. */
function parseBraces(reader: PatternReader): { min: number; max: number } | undefined {
  const mark = reader.mark()
  reader.next()
  const from = reader.digits()
  const comma = reader.take(',')
  const to = reader.digits()
  if (from === '' || !reader.take('}')) {
    reader.reset(mark)
    return undefined
  }
  const min = Number(from)
  const max = to === '' ? (comma ? Infinity : min) : Number(to)
  if (min > MAX_REPEAT || (max > MAX_REPEAT && max !== Infinity)) throw reader.refuse(`it repeats more than ${MAX_REPEAT} times`)
  if (max < min) throw reader.refuse('a quantifier has its bounds in the wrong order')
  return { min, max }
}

function parseAtom(state: ParserState): RegexNode {
  const { reader } = state
  const char = reader.next()
  if (char === '(') return parseGroup(state)
  if (char === '[') return { kind: 'char', test: parseClass(reader, (test) => cased(state, test)) }
  if (char === '.') return { kind: 'char', test: state.flags.dotAll ? () => true : isNoLineEnd }
  if (char === '^') return { kind: 'assert', assertion: 'start' }
  if (char === '$') return { kind: 'assert', assertion: 'end' }
  if (char === '\\') return parseEscaped(state)
  if (/^[*+?]$/.test(char)) throw reader.refuse(`the quantifier ${char} has nothing to repeat`)
  return literal(state, codeOf(char))
}

function parseEscaped(state: ParserState): RegexNode {
  const { reader } = state
  if (reader.take('b')) return { kind: 'assert', assertion: 'boundary' }
  if (reader.take('B')) return { kind: 'assert', assertion: 'not-boundary' }
  if (reader.take('A')) return { kind: 'assert', assertion: 'start' }
  if (reader.take('z')) return { kind: 'assert', assertion: 'end' }
  if (/^[1-9k]$/.test(reader.peek())) throw reader.refuse('backreferences are not supported')
  const atom = parseEscape(reader)
  return typeof atom === 'number' ? literal(state, atom) : { kind: 'char', test: cased(state, atom) }
}

function parseGroup(state: ParserState): RegexNode {
  const { reader } = state
  const outer = state.flags
  const flags = parseFlags(state)
  if (flags !== undefined) state.flags = flags
  if (flags !== undefined && reader.take(')')) return { kind: 'empty' }
  const index = flags !== undefined && reader.take(':') ? undefined : groupIndex(state)
  const body = parseChoice(state)
  state.flags = outer
  if (!reader.take(')')) throw reader.refuse('a group is not closed')
  return index === undefined ? body : { kind: 'group', index, body }
}

/** Parses flags at the beginning of a group, or flags that apply to the rest of the enclosing group (`(?i)`); `undefined` if there are none. */
function parseFlags({ reader, flags }: ParserState): Flags | undefined {
  const mark = reader.mark()
  const found = { ...flags }
  let on = true
  let known = reader.take('?')
  while (known && !/^[:)]$/.test(reader.peek())) {
    if (reader.take('i')) found.ignoreCase = on
    else if (reader.take('s')) found.dotAll = on
    else if (on && reader.take('-')) on = false
    else known = false
  }
  if (known && reader.mark() > mark + 1) return found
  reader.reset(mark)
  return undefined
}

function groupIndex(state: ParserState): number | undefined {
  const { reader } = state
  if (!reader.take('?')) return ++state.groups
  if (reader.take(':')) return undefined
  const name = groupName(reader)
  if (!/^[A-Za-z_]\w*$/.test(name) || state.names.has(name)) throw reader.refuse('a group has no usable name of its own')
  state.groups += 1
  state.names.set(name, state.groups)
  return state.groups
}

function groupName(reader: PatternReader): string {
  const kind = reader.next()
  const isLookbehind = kind === '<' && /^[=!]$/.test(reader.peek())
  if (kind === '=' || kind === '!' || isLookbehind) throw reader.refuse('lookahead and lookbehind are not supported')
  if (kind !== '<' && !(kind === 'P' && reader.take('<'))) throw reader.refuse(`the group (?${kind} is not supported`)
  return reader.until('>') ?? ''
}

function literal(state: ParserState, code: number): RegexNode {
  return { kind: 'char', test: cased(state, range(code, code)) }
}

function cased({ flags }: ParserState, test: CharTest): CharTest {
  return flags.ignoreCase ? ignoringCase(test) : test
}

function isNoLineEnd(code: number): boolean {
  return code !== 0x0a && code !== 0x0d && code !== 0x2028 && code !== 0x2029
}
