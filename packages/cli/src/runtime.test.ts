import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { builtFile } from '../../../test/built.js'
import manifest from '../package.json' with { type: 'json' }
import { ownFolder, runtimeProblem } from './runtime.js'

test.each(['22.13.0', '22.20.1', '24.0.0'])('Node %s is new enough', (version) => expect(runtimeProblem(version)).toBeUndefined())

test.each(['18.20.0', '20.20.2', '22.12.0'])('Node %s is refused, naming the version that the manifest asks for', (version) => {
  expect(`>=${runtimeProblem(version)?.match(/Node ([\d.]+)/)?.[1]}`).toBe(manifest.engines.node)
})

const home = mkdtempSync(join(tmpdir(), 'fhir-ops-cache-'))
afterAll(() => rmSync(home, { recursive: true }))
const fresh = (name: string): string => {
  const folder = join(home, name)
  mkdirSync(folder, { mode: 0o700 })
  return folder
}

describe.skipIf(process.platform === 'win32')('the folder of compiled code', () => {
  test('is made for its user alone', () => {
    const folder = ownFolder({ XDG_CACHE_HOME: fresh('plain') })
    expect(folder).toBe(join(home, 'plain', 'fhir-ops'))
    expect(readdirSync(join(home, 'plain'))).toEqual(['fhir-ops'])
  })

  test('is not one that others can write to', () => {
    const root = fresh('open')
    mkdirSync(join(root, 'fhir-ops'))
    chmodSync(join(root, 'fhir-ops'), 0o777)
    expect(ownFolder({ XDG_CACHE_HOME: root })).toBeUndefined()
  })

  test('is not in one in which others can put another in its place', () => {
    const root = fresh('shared')
    chmodSync(root, 0o777)
    expect(ownFolder({ XDG_CACHE_HOME: root })).toBeUndefined()
    chmodSync(root, 0o1777)
    expect(ownFolder({ XDG_CACHE_HOME: root })).toBe(join(root, 'fhir-ops'))
  })

  test('is not one of another user, though a link names it', () => {
    const root = fresh('linked')
    symlinkSync('/proc/1', join(root, 'fhir-ops'))
    if (process.getuid?.() !== 0) expect(ownFolder({ XDG_CACHE_HOME: root })).toBeUndefined()
    const foreign = fresh('foreign')
    mkdirSync(join(foreign, 'elsewhere'))
    chmodSync(join(foreign, 'elsewhere'), 0o777)
    rmSync(join(root, 'fhir-ops'))
    symlinkSync(join(foreign, 'elsewhere'), join(root, 'fhir-ops'))
    expect(ownFolder({ XDG_CACHE_HOME: root })).toBeUndefined()
  })

  test('is never one below the folder that the command runs in', () => {
    vi.stubEnv('HOME', fresh('home'))
    mkdirSync(join(home, 'home', '.cache'))
    if (process.platform !== 'darwin') expect(ownFolder({ XDG_CACHE_HOME: 'relative' })).toBe(join(home, 'home', '.cache', 'fhir-ops'))
    vi.stubEnv('HOME', '')
    expect(ownFolder({})).toBeUndefined()
    vi.unstubAllEnvs()
    expect([existsSync('relative'), existsSync('.cache')]).toEqual([false, false])
  })

  test('is none where a file is in the way', () => {
    const root = fresh('blocked')
    writeFileSync(join(root, 'fhir-ops'), '')
    expect(ownFolder({ XDG_CACHE_HOME: root })).toBeUndefined()
  })
})

describe('a command', () => {
  const version = (env: NodeJS.ProcessEnv) =>
    spawnSync(process.execPath, [builtFile('packages/cli/dist/main.js'), '--version'], { env, encoding: 'utf8' })

  test('leaves what was compiled in that folder, and starts from it', () => {
    const root = fresh('used')
    for (const _ of [1, 2]) expect(version({ XDG_CACHE_HOME: root, LOCALAPPDATA: root })).toMatchObject({ status: 0, stderr: '' })
    expect(readdirSync(join(root, 'fhir-ops')).length).toBe(1)
  })

  test.each([
    ['another folder', (root: string) => ({ NODE_COMPILE_CACHE: join(root, 'other') })],
    ['none', () => ({ NODE_DISABLE_COMPILE_CACHE: '1' })],
  ])('leaves nothing there where the operator wants %s', (name, envOf) => {
    const root = fresh(name)
    expect(version({ XDG_CACHE_HOME: root, LOCALAPPDATA: root, ...envOf(root) })).toMatchObject({ status: 0, stderr: '' })
    expect(existsSync(join(root, 'fhir-ops'))).toBe(false)
  })

  test('starts where nothing can be written', () => {
    expect(version({ XDG_CACHE_HOME: '/proc/none', HOME: '/proc/none', LOCALAPPDATA: 'Z:\\none' })).toMatchObject({ status: 0, stderr: '' })
  })
})
