import { compileRegex, type LinearRegex } from 'fhir-ops/internal/regex'
import { failedEvaluation } from '../problem.js'
import { isList, type Value } from '../values/value.js'
import type { Compute, NodeCompilers } from './compiler.js'
import { binary, operandsOf, optionalAt, requiredAt, unary } from './operators.js'

/** Longest text that an operator makes, in UTF-16 code units. */
const MAX_TEXT = 1_000_000

/** String operators (CQL reference, section 11). Regular expressions run in linear time. */
export const STRING: NodeCompilers = {
  Concatenate: (node, scope, compiler) => {
    const operands = operandsOf(node, scope, compiler)
    return (evaluation) => {
      const parts = operands.map((operand) => operand(evaluation))
      return parts.every((part) => typeof part === 'string') ? bounded(parts.join('')) : null
    }
  },
  Combine: (node, scope, compiler) => {
    const source = compiler.compile(requiredAt(node, 'source'), scope)
    const separator = optionalAt(node, 'separator', scope, compiler)
    return (evaluation) => {
      const [list, between] = [source(evaluation), separator(evaluation)]
      const parts = isList(list) ? list.filter((item) => typeof item === 'string') : []
      return parts.length === 0 ? null : bounded(parts.join(typeof between === 'string' ? between : ''))
    }
  },
  Split: (node, scope, compiler) => {
    const [text, separator] = [optionalAt(node, 'stringToSplit', scope, compiler), optionalAt(node, 'separator', scope, compiler)]
    return (evaluation) => {
      const [whole, between] = [text(evaluation), separator(evaluation)]
      if (typeof whole !== 'string') return null
      return typeof between === 'string' ? whole.split(between) : [whole]
    }
  },
  SplitOnMatches: (node, scope, compiler) => {
    const [text, pattern] = [optionalAt(node, 'stringToSplit', scope, compiler), optionalAt(node, 'separatorPattern', scope, compiler)]
    const separators = regexes()
    return (evaluation) => {
      const [whole, separator] = [text(evaluation), pattern(evaluation)]
      if (typeof whole !== 'string') return null
      // U+0000 is no character of a String, so it can stand for what was matched.
      return typeof separator === 'string' ? separators(separator).replaceAll(whole, '\u0000').split('\u0000') : [whole]
    }
  },
  Upper: unary((value) => (typeof value === 'string' ? value.toUpperCase() : null)),
  Lower: unary((value) => (typeof value === 'string' ? value.toLowerCase() : null)),
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
      if (typeof whole !== 'string' || typeof from !== 'number' || from < 0 || from >= whole.length) return null
      return typeof count === 'number' ? whole.slice(from, from + Math.max(count, 0)) : whole.slice(from)
    }
  },
  Matches: (node, scope, compiler) => {
    const patterns = regexes()
    return binary((text, pattern) =>
      typeof text === 'string' && typeof pattern === 'string' ? patterns(pattern).matchesWhole(text) : null,
    )(node, scope, compiler)
  },
  ReplaceMatches: (node, scope, compiler) => {
    const operands = operandsOf(node, scope, compiler)
    const patterns = regexes()
    return (evaluation) => {
      const [text, pattern, substitution] = operands.map((operand) => operand(evaluation))
      if (typeof text !== 'string' || typeof pattern !== 'string' || typeof substitution !== 'string') return null
      return bounded(patterns(pattern).replaceAll(text, substitution.replaceAll('\\$', '$$$$')))
    }
  },
}

function onTexts(compute: (text: string, part: string) => Value): ReturnType<typeof binary> {
  return binary((text, part) => (typeof text === 'string' && typeof part === 'string' ? compute(text, part) : null))
}

function position(pattern: Compute, text: Compute, which: 'first' | 'last'): Compute {
  return (evaluation) => {
    const [wanted, whole] = [pattern(evaluation), text(evaluation)]
    if (typeof wanted !== 'string' || typeof whole !== 'string') return null
    return which === 'first' ? whole.indexOf(wanted) : whole.lastIndexOf(wanted)
  }
}

function bounded(text: string): string {
  if (text.length > MAX_TEXT) throw failedEvaluation(`A text may have at most ${MAX_TEXT} characters.`)
  return text
}

/** Compiles patterns once for a node; the pattern seldom changes between evaluations. */
function regexes(): (pattern: string) => LinearRegex {
  let last: LinearRegex | undefined
  return (pattern) => (last?.pattern === pattern ? last : (last = compileRegex(pattern)))
}
