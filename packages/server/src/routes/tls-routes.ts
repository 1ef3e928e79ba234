import { deleteCertificate, getCertificates, operatorOperations, updateCertificate } from '@fairlead/api'
import { actorOf } from '../core/identity/access.ts'
import type { Mount } from '../http/mount.ts'
import type { Tls } from '../tls/tls-service.ts'

/** Serves the TLS certificates; private keys are taken and never answered. `onOther`: endpoints have another one to show. */
export function tlsRoutes(mount: Mount, tls: Tls, onOther: () => Promise<void>): void {
  mount(getCertificates, async () => wireOf(tls))

  mount(updateCertificate, async ({ body: { name, certificate, key } }, caller) => {
    await tls.replace(name, { cert: certificate, key }, actorOf(caller))
    if (name === 'proxy') await onOther()
    return wireOf(tls)
  })

  mount(deleteCertificate, async ({ params: { certificate_name: name } }, caller) => {
    await tls.reset(name, actorOf(caller))
    if (name === 'proxy') await onOther()
    return wireOf(tls)
  })
}

/** For the operator of the machine. */
export function operatorTlsRoutes(mount: Mount, tls: Tls): void {
  mount(operatorOperations.getCertificates, async () => wireOf(tls))
}

/** The public part, without keys. */
async function wireOf(tls: Tls) {
  const { ca, proxy } = await tls.current()
  return { ca_cert: ca, proxy_cert: proxy.cert, api_cert: (await tls.api())?.cert ?? null }
}
