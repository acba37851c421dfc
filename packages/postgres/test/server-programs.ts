import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { installDebian } from '../../../test/debian.js'

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
  return installDebian(['postgresql'], `ls ${DEBIAN}/*/bin/initdb`) ? found() : undefined
}
