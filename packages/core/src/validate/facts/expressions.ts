import type { Cache } from '../../context/index.js'
import { compileFhirPath, type CompiledPath, type TypeModel } from '../../fhirpath/index.js'

const PREFIX = 'validate expression '
const BYTES_PER_CHARACTER = 100

/** Compiles expressions, each once per cache. */
export function expressionCompiler(cache: Cache, model: TypeModel): (expression: string) => CompiledPath {
  return (expression) => {
    const known = cache.get(PREFIX + expression)
    if (known !== undefined && isCompiled(known)) return known
    const compiled = compileFhirPath(expression, { model })
    cache.set(PREFIX + expression, compiled, expression.length * BYTES_PER_CHARACTER)
    return compiled
  }
}

function isCompiled(value: object): value is CompiledPath {
  return 'evaluate' in value && 'test' in value
}
