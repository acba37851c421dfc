import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * The folder of PostgreSQL's programs: the one that `FHIR_OPS_POSTGRES_PROGRAMS` names, the newest of Debian, or that of the path. Where there is none and
 * the tests run as root on a Debian, it is installed first.
 */
export function serverPrograms(): string | undefined {
  return process.env['FHIR_OPS_POSTGRES_PROGRAMS'] ?? found() ?? installed()
}

const DEBIAN = '/usr/lib/postgresql'

function found(): string | undefined {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : []
  const { stdout } = spawnSync('pg_config', ['--bindir'], { encoding: 'utf8' })
  const folders = [...versions.map((version) => join(DEBIAN, version, 'bin')), (stdout ?? '').trim()]
  return folders.find((folder) => folder !== '' && existsSync(join(folder, 'initdb')))
}

function installed(): string | undefined {
  return installDebian('postgresql', `ls ${DEBIAN}/*/bin/initdb`) ? found() : undefined
}

/**
 * Installs a package where the tests run as root on a Debian; false where they do not. Takes half a minute. Of several test files one installs while
 * the others wait.
 *
 * @param isThere A command of the shell that succeeds when it is there.
 */
export function installDebian(name: 'postgresql' | 'pgbouncer', isThere: string): boolean {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return false
  process.stdout.write(`${name} is installed for the tests (apt-get install ${name})\n`)
  const install = `${isThere} 2>/dev/null || { apt-get update -q && RUNLEVEL=1 apt-get install -y -q --no-install-recommends ${name}; }`
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const lock = join(tmpdir(), `fhir-ops-install-${name}.lock`)
  return spawnSync('flock', [lock, 'sh', '-c', install], { env, stdio: 'inherit', timeout: 300_000 }).status === 0
}
