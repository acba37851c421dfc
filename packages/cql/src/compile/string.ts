import type { OperationError } from 'fhir-ops/errors'
import { compileRegex, replaceAll, type LinearRegex } from 'fhir-ops/internal/regex'
import { nodeAt, typeOf } from '../elm/node.js'
import { failedEvaluation, invalidElm } from '../problem.js'
import { caseSteps } from '../values/size.js'
import { isList, type Value } from '../values/value.js'
import type { Compute, Evaluation, NodeCompiler, NodeCompilers } from './compiler.js'
import { binary, operandOf, operandsOf, optionalAt, requiredAt, twoOperands } from './operators.js'

/** Maximum length of a text that an operator returns, in UTF-16 code units. */
const MAX_TEXT = 1_000_000

/** String operators (CQL reference, section 11). Regular expressions run in linear time. */
export const STRING: NodeCompilers = {
  Concatenate: (node, scope, compiler) => {
    const operands = operandsOf(node, scope, compiler)
    return (evaluation) => {
      const parts = operands.map((operand) => operand(evaluation))
      return parts.every((part) => typeof part === 'string') ? joined(parts, '', evaluation) : null
    }
  },
  Combine: (node, scope, compiler) => {
    const source = compiler.compile(requiredAt(node, 'source'), scope)
    const separator = nodeAt(node, 'separator') === undefined ? () => '' : optionalAt(node, 'separator', scope, compiler)
    return (evaluation) => {
      const [list, between] = [source(evaluation), separator(evaluation)]
      const parts = isList(list) ? list.filter((item) => typeof item === 'string') : []
      return parts.length === 0 || typeof between !== 'string' ? null : joined(parts, between, evaluation)
    }
  },
  Split: (node, scope, compiler) => {
    const [text, separator] = [optionalAt(node, 'stringToSplit', scope, compiler), optionalAt(node, 'separator', scope, compiler)]
    return (evaluation) => {
      const [whole, between] = [text(evaluation), separator(evaluation)]
      if (typeof whole !== 'string') return null
      if (typeof between !== 'string') return [whole]
      spendSearch(between, whole, evaluation)
      const parts = whole.split(between)
      evaluation.spend(parts.length)
      return parts
    }
  },
  SplitOnMatches: (node, scope, compiler) => {
    const [text, pattern] = [optionalAt(node, 'stringToSplit', scope, compiler), optionalAt(node, 'separatorPattern', scope, compiler)]
    const separators = regexes()
    return (evaluation) => {
      const [whole, separator] = [text(evaluation), pattern(evaluation)]
      if (typeof whole !== 'string') return null
      if (typeof separator !== 'string') return [whole]
      const spend = spendMatch(whole, evaluation)
      // U+0000 is not a character of a String, so it can mark the matches.
      const pieces = replaceAll(separators(separator, evaluation), whole, '\u0000$&\u0000', spend).split('\u0000')
      evaluation.spend(pieces.length)
      return betweenMatches(pieces)
    }
  },
  ToChars: ofText(
    (text) => Array.from(text),
    (text) => text.length,
  ),
  Upper: ofText((text) => text.toUpperCase(), caseSteps),
  Lower: ofText((text) => text.toLowerCase(), caseSteps),
  StartsWith: onTexts((text, part) => text.startsWith(part)),
  EndsWith: onTexts((text, part) => text.endsWith(part)),
  PositionOf: (node, scope, compiler) =>
    position(optionalAt(node, 'pattern', scope, compiler), optionalAt(node, 'string', scope, compiler), 'first'),
  LastPositionOf: (node, scope, compiler) =>
    position(optionalAt(node, 'pattern', scope, compiler), optionalAt(node, 'string', scope, compiler), 'last'),
  Substring: (node, scope, compiler) => {
    const text = compiler.compile(requiredAt(node, 'stringToSub'), scope)
    const [start, length] = [optionalAt(node, 'startIndex', scope, compiler), optionalAt(node, 'length', scope, compiler)]
    return (evaluation) => {
      const [whole, from, count] = [text(evaluation), start(evaluation), length(evaluation)]
      if (typeof whole !== 'string' || typeof from !== 'number') return null
      // Position 0 is valid in every text, also in an empty one.
      if (from !== 0 && (from < 0 || from >= whole.length)) return null
      return typeof count === 'number' ? whole.slice(from, from + Math.max(count, 0)) : whole.slice(from)
    }
  },
  Matches: (node, scope, compiler) => {
    const patterns = regexes()
    const [left, right] = twoOperands(node, scope, compiler)
    return (evaluation) => {
      const [text, pattern] = [left(evaluation), right(evaluation)]
      if (typeof text !== 'string' || typeof pattern !== 'string') return null
      return patterns(pattern, evaluation).matchesWhole(text, spendMatch(text, evaluation))
    }
  },
  ReplaceMatches: (node, scope, compiler) => {
    const operands = operandsOf(node, scope, compiler)
    if (operands.length !== 3) throw invalidElm(node, `${typeOf(node)} must have three operands; this one has ${operands.length}.`)
    const patterns = regexes()
    return (evaluation) => {
      const [text, pattern, substitution] = operands.map((operand) => operand(evaluation))
      if (typeof text !== 'string' || typeof pattern !== 'string' || typeof substitution !== 'string') return null
      const spend = spendMatch(text, evaluation)
      // A substitution may repeat matches, so its length times that of the text is an upper bound of the result's length.
      evaluation.spend((text.length * (substitution.length + 1)) / TEXT_OF_STEP)
      return bounded(replaceAll(patterns(pattern, evaluation), text, substitutionOf(substitution), spend))
    }
  },
}

/**
 * Returns the parts between matches. `pieces` alternates between these parts and the matches. An empty match at the start or the end of the text separates
 * nothing.
 */
function betweenMatches(pieces: readonly string[]): readonly string[] {
  const [isEmptyFirst, isEmptyLast] = [pieces[0] === '' && pieces[1] === '', pieces.at(-1) === '' && pieces.at(-2) === '']
  const parts = pieces.filter((_, index) => index % 2 === 0)
  if (isEmptyLast) parts.pop()
  return isEmptyFirst && parts.length > 1 ? parts.slice(1) : parts
}

/** Converts a substitution in which `\$` is a dollar sign and `\\` a backslash to the syntax of JavaScript. */
function substitutionOf(text: string): string {
  return text.replaceAll(/\\([\\$])/g, (_, sign) => (sign === '$' ? '$$' : '\\'))
}

function ofText(compute: (text: string) => Value, stepsOf: (text: string) => number): NodeCompiler {
  return (node, scope, compiler) => {
    const operand = compiler.compile(operandOf(node), scope)
    return (evaluation) => {
      const text = operand(evaluation)
      if (typeof text !== 'string') return null
      evaluation.spend(stepsOf(text))
      return compute(text)
    }
  }
}

function onTexts(compute: (text: string, part: string) => Value): ReturnType<typeof binary> {
  return binary((text, part) => (typeof text === 'string' && typeof part === 'string' ? compute(text, part) : null))
}

function position(pattern: Compute, text: Compute, which: 'first' | 'last'): Compute {
  return (evaluation) => {
    const [wanted, whole] = [pattern(evaluation), text(evaluation)]
    if (typeof wanted !== 'string' || typeof whole !== 'string') return null
    spendSearch(wanted, whole, evaluation)
    return which === 'first' ? whole.indexOf(wanted) : whole.lastIndexOf(wanted)
  }
}

/** Number of characters that are processed in one step. */
const TEXT_OF_STEP = 512

/** Number of characters that an automaton reads in one step, and number of its own further steps in one step. */
const READ_OF_STEP = 64
const MATCHES_OF_STEP = 32

/** Counts the search for a text: runtimes may compare all of it at each position, however long it is. */
function spendSearch(wanted: string, text: string, { spend }: Evaluation): void {
  spend((text.length * (wanted.length + 1)) / TEXT_OF_STEP / 8)
}

/** Counts the steps for reading a text. The returned function counts the steps of an automaton on it. */
function spendMatch(text: string, { spend }: Evaluation): (steps: number) => void {
  spend(1 + text.length / READ_OF_STEP)
  return (steps) => spend(steps / MATCHES_OF_STEP)
}

/** Joins texts, after checking the length of the result. */
function joined(parts: readonly string[], between: string, { spend }: Evaluation): string {
  let length = between.length * (parts.length - 1)
  for (const part of parts) length += part.length
  if (length > MAX_TEXT) throw tooLong()
  spend(parts.length + length / TEXT_OF_STEP)
  return parts.join(between)
}

function bounded(text: string): string {
  if (text.length > MAX_TEXT) throw tooLong()
  return text
}

function tooLong(): OperationError {
  return failedEvaluation(`A text may have at most ${MAX_TEXT} characters.`)
}

/** Keeps the compiled pattern of a node, because it seldom changes between evaluations. A new pattern costs steps for its states. */
function regexes(): (pattern: string, evaluation: Evaluation) => LinearRegex {
  let last: LinearRegex | undefined
  return (pattern, { spend }) => {
    if (last?.pattern === pattern) return last
    last = compileRegex(pattern, { dotAll: true })
    spend(pattern.length + last.states)
    return last
  }
}
