import { expect, test } from 'vitest'
import manifest from '../package.json' with { type: 'json' }
import { runtimeProblem } from './runtime.js'

test.each(['22.13.0', '22.20.1', '24.0.0'])('Node %s is new enough', (version) => expect(runtimeProblem(version)).toBeUndefined())

test.each(['18.20.0', '20.20.2', '22.12.0'])('Node %s is refused, naming the version that the manifest asks for', (version) => {
  expect(`>=${runtimeProblem(version)?.match(/Node ([\d.]+)/)?.[1]}`).toBe(manifest.engines.node)
})
