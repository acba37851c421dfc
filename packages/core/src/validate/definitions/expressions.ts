import { LRUCache } from 'lru-cache'
import type { Cache } from '../../context/index.js'
import { OperationError } from '../../errors/index.js'
import { compileFhirPath, type CompiledPath, type TypeModel } from '../../fhirpath/index.js'
import { compileRegex, type LinearRegex } from '../../regex/index.js'
import type { Definitions } from '../run/definitions.js'

const KEY = 'validate expressions'
/** Maximum total length of the expressions that are kept. */
const MOST_CHARACTERS = 500_000
/** Memory of a compiled expression. */
const BYTES_PER_CHARACTER = 100

/** Maximum number of patterns kept; each may take some hundred kilobytes while it is used. */
const MOST_PATTERNS = 100
const BYTES_PER_PATTERN = 50_000

/**
 * A class, so that it can be recognised in the cache. When it is full, all expressions are dropped, because dropping only the oldest would make lookups
 * more expensive (bench `validate`).
 */
class Expressions {
  readonly paths = new Map<string, CompiledPath>()
  readonly patterns = new LRUCache<string, { readonly regex: LinearRegex | undefined }>({ max: MOST_PATTERNS })
  characters = 0

  get bytes(): number {
    return 1 + this.characters * BYTES_PER_CHARACTER + this.patterns.size * BYTES_PER_PATTERN
  }
}

/** Compiles the FHIRPath and the regular expressions of definitions, each once per cache. */
export function expressionCompiler(cache: Cache, model: TypeModel): Pick<Definitions, 'expression' | 'pattern'> {
  let used: Expressions | undefined
  return {
    expression(text) {
      const known = (used ??= expressionsIn(cache))
      const found = known.paths.get(text)
      if (found !== undefined) return found
      const compiled = compileFhirPath(text, { model })
      keep(known, compiled)
      cache.set(KEY, known, known.bytes)
      return compiled
    },
    pattern(text) {
      const known = (used ??= expressionsIn(cache))
      const found = known.patterns.get(text)
      if (found !== undefined) return found.regex
      const regex = usableRegex(text)
      known.patterns.set(text, { regex })
      cache.set(KEY, known, known.bytes)
      return regex
    },
  }
}

function keep(known: Expressions, compiled: CompiledPath): void {
  const { length } = compiled.expression
  if (known.characters + length > MOST_CHARACTERS) {
    known.paths.clear()
    known.characters = 0
  }
  known.paths.set(compiled.expression, compiled)
  known.characters += length
}

function usableRegex(pattern: string): LinearRegex | undefined {
  try {
    return compileRegex(pattern)
  } catch (error) {
    if (error instanceof OperationError) return undefined
    throw error
  }
}

function expressionsIn(cache: Cache): Expressions {
  const found = cache.get(KEY)
  if (found instanceof Expressions) return found
  return new Expressions()
}
