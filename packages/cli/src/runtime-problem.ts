const OLDEST: readonly [number, number] = [22, 13]

/** What is wrong with this version of Node; `undefined` when it is new enough (`engines` in the manifest). */
export function runtimeProblem(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const isNewEnough = major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])
  return isNewEnough ? undefined : `fhir-ops needs Node ${OLDEST.join('.')} or later, and this is ${version}.`
}
