import type { Cache } from '../../context/index.js'
import { compileFhirPath, type CompiledPath, type TypeModel } from '../../fhirpath/index.js'

const PREFIX = 'validate expression '
const BYTES_PER_CHARACTER = 100

/** Compiles expressions, each once per cache. */
export function expressionCompiler(cache: Cache, model: TypeModel): (expression: string) => CompiledPath {
  const used = new Map<string, CompiledPath>()
  return (expression) => {
    const known = used.get(expression)
    if (known !== undefined) return known
    const found = cache.get(PREFIX + expression)
    const compiled = found !== undefined && isCompiled(found) ? found : compileFhirPath(expression, { model })
    if (compiled !== found) cache.set(PREFIX + expression, compiled, expression.length * BYTES_PER_CHARACTER)
    used.set(expression, compiled)
    return compiled
  }
}

function isCompiled(value: object): value is CompiledPath {
  return 'evaluate' in value && 'test' in value
}
