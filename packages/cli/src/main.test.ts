import { spawn, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, test } from 'vitest'

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url))

/** Writes the files that a program has loaded to its standard error when it ends. */
const LISTED = `
  import { registerHooks } from 'node:module'
  const loaded = []
  registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
  process.on('exit', () => process.stderr.write(JSON.stringify(loaded)))`

function loadedBy(args: readonly string[]): readonly string[] {
  const hooks = `data:text/javascript,${encodeURIComponent(LISTED)}`
  const { stderr } = spawnSync(process.execPath, ['--import', hooks, MAIN, ...args], { encoding: 'utf8' })
  const loaded: readonly string[] = JSON.parse(stderr)
  return loaded
}

describe.skipIf(!existsSync(MAIN))('the built command', () => {
  test('ends quietly when nobody reads its output any more', async () => {
    const child = spawn(process.execPath, [MAIN, 'expand', 'http://hl7.org/fhir/ValueSet/languages'])
    child.stdout.destroy()
    let err = ''
    child.stderr.on('data', (data) => (err += String(data)))
    const status = await new Promise((resolve) => child.once('close', resolve))
    expect([status, err]).toEqual([0, expect.not.stringContaining('EPIPE')])
  })

  test('says by its status whether resources are valid, although nobody reads its findings to the end', async () => {
    const many = Array.from({ length: 400 }, (_, n) => ({ resourceType: 'Patient', id: `p${n}`, active: 'yes' }))
    const child = spawn(process.execPath, [MAIN, 'validate', '-'])
    child.stdout.destroy()
    let err = ''
    child.stderr.on('data', (data) => (err += String(data)))
    child.stdin.end(many.map((patient) => JSON.stringify(patient)).join('\n'))
    const status = await new Promise((resolve) => child.once('close', resolve))
    expect([status, err]).toEqual([1, expect.not.stringMatching(/EPIPE|\n\s+at /)])
  })

  test('succeeds when nobody reads its messages', async () => {
    const child = spawn(process.execPath, [MAIN, 'expand', 'http://hl7.org/fhir/ValueSet/administrative-gender'])
    child.stderr.destroy()
    let out = ''
    child.stdout.on('data', (data) => (out += String(data)))
    const status = await new Promise((resolve) => child.once('close', resolve))
    expect([status, out.split('\n').length]).toEqual([0, 5])
  })

  test.skipIf(!existsSync('/dev/full'))('says so when its output goes to a full disk', () => {
    const call = ['-c', '"$0" "$1" expand http://hl7.org/fhir/ValueSet/administrative-gender > /dev/full', process.execPath, MAIN]
    const { status, stderr } = spawnSync('sh', call, { encoding: 'utf8' })
    expect([status, stderr]).toEqual([1, expect.stringMatching(/error: cannot write to standard output \(ENOSPC\)\.\n$/)])
  })

  test.skipIf(process.platform === 'win32')('runs in a folder that was removed', () => {
    const folder = mkdtempSync(join(tmpdir(), 'fhir-ops-removed-'))
    const call = ['-c', 'cd "$2" && rmdir "$2" && exec "$0" "$1" lookup male --system http://hl7.org/fhir/administrative-gender']
    const { status, stdout, stderr } = spawnSync('sh', [...call, process.execPath, MAIN, folder], { encoding: 'utf8' })
    expect([status, stderr, stdout]).toEqual([0, expect.not.stringContaining('ENOENT'), expect.stringContaining('Male')])
  })

  test.each([
    { args: ['--version'], without: /layers\/(?!foundations)|packages\/(?!cli|core)/ },
    {
      args: ['lookup', 'male', '--system', 'http://hl7.org/fhir/administrative-gender'],
      without: /packages\/(?:handler|cql|sqlite|postgres|http)\//,
    },
  ])('$args.0 loads what it needs', ({ args, without }) => {
    const loaded = loadedBy(args)
    expect(loaded.length).toBeGreaterThan(0)
    expect(loaded.filter((url) => without.test(url))).toEqual([])
  })

  describe.skipIf(process.platform !== 'linux' || process.execve === undefined)(
    'serve starts with an allocator that gives memory back',
    () => {
      test('in the process that was started, which ends as it is told', async () => {
        const { environment, status } = await served({})
        const settings = ['MALLOC_ARENA_MAX=1', 'MALLOC_MMAP_THRESHOLD_=1048576', 'MALLOC_TRIM_THRESHOLD_=2097152']
        expect(environment).toEqual(expect.arrayContaining(settings))
        expect(status).toBe(0)
      })

      test('with as many areas as its environment says', async () => {
        const { environment } = await served({ MALLOC_ARENA_MAX: '7' })
        const settings = ['MALLOC_ARENA_MAX=7', 'MALLOC_MMAP_THRESHOLD_=1048576', 'MALLOC_TRIM_THRESHOLD_=2097152']
        expect(environment.filter((setting) => setting.startsWith('MALLOC_')).toSorted()).toEqual(settings)
      })

      test.each([{ MALLOC_TRIM_THRESHOLD_: '4096' }, { GLIBC_TUNABLES: 'glibc.malloc.arena_max=2' }])(
        'but not instead of %o',
        async (own) => {
          const { environment } = await served(own)
          expect(environment.filter((setting) => /^(MALLOC_|GLIBC_)/.test(setting))).toEqual(
            Object.entries(own).map(([name, value]) => `${name}=${value}`),
          )
        },
      )

      test('nor where Node must not start programs', async () => {
        const { environment } = await served({}, ['--permission', '--allow-fs-read=*', '--allow-worker', '--allow-addons'])
        expect(environment.filter((setting) => setting.startsWith('MALLOC_'))).toEqual([])
      })
    },
  )
})

/** Starts the server, reads the environment of its process, and stops it. */
async function served(
  env: NodeJS.ProcessEnv,
  flags: readonly string[] = [],
): Promise<{ readonly environment: readonly string[]; readonly status: unknown }> {
  const { PATH } = process.env
  const child = spawn(process.execPath, [...flags, MAIN, 'serve', '--port', '0', '--no-auth'], {
    env: { PATH, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  for await (const line of createInterface(child.stdout)) if (line.startsWith('listening on ')) break
  const environment = readFileSync(`/proc/${child.pid}/environ`, 'utf8').split('\0')
  child.kill('SIGTERM')
  const [status] = await once(child, 'exit')
  return { environment, status }
}
