import type { ParameterUse, RequiredData, Requirements } from '../languages/index.js'

/** Requirements of several parts, each once: equal ones are one, and those that differ in `mustSupport` only have it in common. */
export function mergedRequirements(all: readonly Requirements[]): Requirements {
  const data = new Map<string, RequiredData>()
  const parameters = new Map<string, ParameterUse>()
  for (const requirement of all.flatMap((one) => one.data)) {
    const { mustSupport = [], ...filtered } = requirement
    const key = JSON.stringify(filtered)
    const supported = [...new Set([...(data.get(key)?.mustSupport ?? []), ...mustSupport])].toSorted()
    data.set(key, { ...filtered, ...(supported.length > 0 && { mustSupport: supported }) })
  }
  for (const parameter of all.flatMap((one) => one.parameters)) parameters.set(JSON.stringify(parameter), parameter)
  return {
    data: [...data.values()],
    parameters: [...parameters.values()],
    dependsOn: [...new Set(all.flatMap(({ dependsOn }) => dependsOn))],
  }
}
