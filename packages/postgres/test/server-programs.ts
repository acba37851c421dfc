import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The folder of PostgreSQL's programs; where there is none and the tests run as root on a Debian, it is installed first. */
export function serverPrograms(): string | undefined {
  return found() ?? installed()
}

const DEBIAN = '/usr/lib/postgresql'

function found(): string | undefined {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : []
  const { stdout } = spawnSync('pg_config', ['--bindir'], { encoding: 'utf8' })
  const folders = [...versions.map((version) => join(DEBIAN, version, 'bin')), (stdout ?? '').trim()]
  return folders.find((folder) => folder !== '' && existsSync(join(folder, 'initdb')))
}

const INSTALL = `ls ${DEBIAN}/*/bin/initdb 2>/dev/null || { apt-get update -q && apt-get install -y -q --no-install-recommends postgresql; }`

/** Takes half a minute. Of several test files one installs while the others wait. */
function installed(): string | undefined {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return undefined
  process.stdout.write('PostgreSQL is installed for the tests (apt-get install postgresql)\n')
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  spawnSync('flock', [join(tmpdir(), 'fhir-ops-install-postgresql.lock'), 'sh', '-c', INSTALL], { env, stdio: 'inherit', timeout: 300_000 })
  return found()
}
