import { spawn, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { describe, expect, test } from 'vitest'

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url))

describe.skipIf(!existsSync(MAIN))('the built command', () => {
  test('ends quietly when nobody reads its output any more', async () => {
    const child = spawn(process.execPath, [MAIN, 'expand', 'http://hl7.org/fhir/ValueSet/languages'])
    child.stdout.destroy()
    let err = ''
    child.stderr.on('data', (data) => (err += String(data)))
    const status = await new Promise((resolve) => child.once('close', resolve))
    expect([status, err]).toEqual([0, expect.not.stringContaining('EPIPE')])
  })

  test.skipIf(!existsSync('/dev/full'))('says so when its output goes to a full disk', () => {
    const call = ['-c', '"$0" "$1" expand http://hl7.org/fhir/ValueSet/administrative-gender > /dev/full', process.execPath, MAIN]
    const { status, stderr } = spawnSync('sh', call, { encoding: 'utf8' })
    expect([status, stderr]).toEqual([1, expect.stringMatching(/error: cannot write to standard output \(ENOSPC\)\.\n$/)])
  })

  describe.skipIf(process.platform !== 'linux' || process.execve === undefined)(
    'serve starts with an allocator that gives memory back',
    () => {
      test('in the process that was started, which ends as it is told', async () => {
        const { environment, status } = await served({})
        const settings = ['MALLOC_ARENA_MAX=2', 'MALLOC_MMAP_THRESHOLD_=1048576', 'MALLOC_TRIM_THRESHOLD_=2097152']
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
