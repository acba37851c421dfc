import type { Cache } from '../../context/index.js'
import { compileFhirPath, type CompiledPath, type TypeModel } from '../../fhirpath/index.js'

const KEY = 'validate expressions'
/** Of all expressions that are kept. */
const MOST_CHARACTERS = 500_000
/** What a compiled expression takes in memory. */
const BYTES_PER_CHARACTER = 100

/** A class, so that it can be recognised in the cache. All are forgotten when it is full: looks cost less than where the oldest is (bench `validate`). */
class Expressions extends Map<string, CompiledPath> {
  characters = 0
}

/** Compiles expressions, each once per cache. */
export function expressionCompiler(cache: Cache, model: TypeModel): (expression: string) => CompiledPath {
  const known = expressionsIn(cache)
  return (expression) => {
    const found = known.get(expression)
    if (found !== undefined) return found
    const compiled = compileFhirPath(expression, { model })
    keep(known, compiled)
    cache.set(KEY, known, known.characters * BYTES_PER_CHARACTER)
    return compiled
  }
}

function keep(known: Expressions, compiled: CompiledPath): void {
  const { length } = compiled.expression
  if (known.characters + length > MOST_CHARACTERS) {
    known.clear()
    known.characters = 0
  }
  known.set(compiled.expression, compiled)
  known.characters += length
}

function expressionsIn(cache: Cache): Expressions {
  const found = cache.get(KEY)
  if (found instanceof Expressions) return found
  return new Expressions()
}
