import { Type } from 'typebox'
import { closed } from '../contract/closed.ts'
import { operation } from '../contract/operation.ts'

/** Names of the wider API, which also returns keys; this one never does. */
export const TlsCertificates = Type.Object({
  ca_cert: Type.String({
    description: 'Ours: the authority that signs the certificates of Fairlead, PEM; clients are to trust it',
  }),
  proxy_cert: Type.String({
    description: 'The certificate that endpoints of databases show their clients, PEM',
  }),
  api_cert: Type.Union([Type.String(), Type.Null()], {
    description:
      'The certificate that the API shows over HTTPS at the server that answers, PEM; null: this server has no HTTPS',
  }),
})

const CertificateName = Type.Enum(['proxy', 'api'], {
  description: 'proxy: the certificate that endpoints of databases show; api: that of the API, over HTTPS',
})

/** GET /v1/cluster/certificates: the certificates as PEM, never a private key. */
export const getCertificates = operation({
  method: 'GET',
  path: '/v1/cluster/certificates',
  summary: 'Show the TLS certificates of the cluster, without their keys',
  permission: 'view_cluster_info',
  ok: TlsCertificates,
})

/** PUT /v1/cluster/update_cert: takes a certificate and key as PEM; refuses with `invalid_certificate`. */
export const updateCertificate = operation({
  method: 'PUT',
  path: '/v1/cluster/update_cert',
  summary:
    'Give endpoints, or the API, a TLS certificate of your own; open connections stay, new ones get the new certificate',
  permission: 'update_cluster',
  body: closed({
    name: CertificateName,
    key: Type.String({
      maxLength: 32_768,
      description: 'The private key, PEM, not encrypted; no answer contains it',
    }),
    certificate: Type.String({
      maxLength: 65_536,
      description: 'PEM: the certificate, followed by the certificates of its signers, in order',
    }),
  }),
  ok: TlsCertificates,
  errors: ['invalid_certificate'],
})

/**
 * DELETE /v1/cluster/certificates/:certificate_name: endpoints or the API use the cluster's certificate
 * again.
 */
export const deleteCertificate = operation({
  method: 'DELETE',
  path: '/v1/cluster/certificates/:certificate_name',
  summary:
    'Remove your own TLS certificate: endpoints, or the API, show one that the authority of the cluster signed',
  permission: 'update_cluster',
  params: Type.Object({ certificate_name: CertificateName }),
  ok: TlsCertificates,
})
