"""Mail domains that anybody can have an address at, so that many people on one of them say nothing.

The list is short and ours. The lists on PyPI and elsewhere have thousands of domains, many of
them expired: whoever registers one of those would be trusted. A provider that is missing here
costs little, because a domain that other subscribers of the campaign have is not uncommon either.
"""

from __future__ import annotations

_WORLDWIDE = """
gmail.com googlemail.com outlook.com hotmail.com live.com msn.com passport.com icloud.com me.com
mac.com yahoo.com ymail.com rocketmail.com aol.com aim.com proton.me protonmail.com protonmail.ch
pm.me gmx.com gmx.net mail.com email.com zoho.com zohomail.com zoho.eu zoho.in zohomail.eu
zohomail.in fastmail.com fastmail.fm hey.com hushmail.com tutanota.com tutanota.de tutamail.com
tuta.com tuta.io mailbox.org posteo.de posteo.net runbox.com startmail.com mailfence.com
disroot.org riseup.net yandex.com inbox.com
"""
_NATIONAL = """
outlook.at outlook.be outlook.cl outlook.co.id outlook.com.ar outlook.com.au outlook.com.br
outlook.com.tr outlook.cz outlook.de outlook.dk outlook.es outlook.fr outlook.ie outlook.in
outlook.it outlook.jp outlook.kr outlook.pt outlook.sa
hotmail.be hotmail.ca hotmail.ch hotmail.co.jp hotmail.co.uk hotmail.com.ar hotmail.com.br
hotmail.com.tr hotmail.de hotmail.dk hotmail.es hotmail.fi hotmail.fr hotmail.gr hotmail.it
hotmail.nl hotmail.no hotmail.se
live.at live.be live.ca live.ch live.cl live.cn live.co.uk live.com.ar live.com.au live.com.mx
live.com.pt live.de live.dk live.fr live.ie live.in live.it live.jp live.nl live.no live.se
yahoo.ca yahoo.co.id yahoo.co.in yahoo.co.jp yahoo.co.nz yahoo.co.uk yahoo.com.ar yahoo.com.au
yahoo.com.br yahoo.com.hk yahoo.com.mx yahoo.com.ph yahoo.com.sg yahoo.com.tr yahoo.com.tw
yahoo.com.vn yahoo.de yahoo.es yahoo.fr yahoo.gr yahoo.ie yahoo.in yahoo.it yahoo.ne.jp yahoo.ro
yahoo.se
gmx.de gmx.at gmx.ch gmx.fr gmx.co.uk gmx.us web.de t-online.de freenet.de arcor.de 1und1.de
online.de vodafone.de vodafonemail.de mail.de kabelmail.de aon.at a1.net chello.at bluewin.ch
hispeed.ch sunrise.ch
orange.fr wanadoo.fr free.fr laposte.net sfr.fr bbox.fr neuf.fr numericable.fr aliceadsl.fr
libero.it virgilio.it tiscali.it tin.it alice.it tim.it fastwebnet.it inwind.it iol.it aruba.it
pec.it telefonica.net terra.es ono.com movistar.es sapo.pt mail.telepac.pt
btinternet.com sky.com virginmedia.com ntlworld.com blueyonder.co.uk talktalk.net tiscali.co.uk
plusnet.com eircom.net aol.co.uk
ziggo.nl kpnmail.nl planet.nl home.nl hetnet.nl xs4all.nl upcmail.nl telenet.be skynet.be
proximus.be scarlet.be pt.lu
telia.com bredband.net comhem.se spray.se online.no broadpark.no tdcadsl.dk mail.dk jubii.dk
stofanet.dk kolumbus.fi elisanet.fi luukku.com simnet.is
wp.pl o2.pl onet.pl op.pl interia.pl interia.eu poczta.onet.pl gazeta.pl tlen.pl vp.pl
seznam.cz email.cz centrum.cz post.cz volny.cz azet.sk centrum.sk zoznam.sk freemail.hu
citromail.hu t-online.hu abv.bg mail.bg dir.bg siol.net net.hr inet.hr inbox.lv one.lt hot.ee
mail.ee otenet.gr freemail.gr mynet.com
mail.ru bk.ru list.ru inbox.ru internet.ru yandex.ru ya.ru yandex.by yandex.kz rambler.ru ukr.net
i.ua meta.ua bigmir.net tut.by
comcast.net verizon.net att.net sbcglobal.net bellsouth.net cox.net charter.net earthlink.net
optonline.net frontier.com windstream.net juno.com netzero.net centurylink.net roadrunner.com
rogers.com bell.net sympatico.ca shaw.ca telus.net videotron.ca
bigpond.com bigpond.net.au optusnet.com.au iinet.net.au xtra.co.nz
uol.com.br bol.com.br terra.com.br ig.com.br globo.com globomail.com r7.com prodigy.net.mx
qq.com foxmail.com 163.com 126.com yeah.net sina.com sina.cn sohu.com 139.com 189.cn aliyun.com
naver.com hanmail.net daum.net kakao.com nate.com docomo.ne.jp ezweb.ne.jp au.com softbank.ne.jp
i.softbank.jp nifty.com biglobe.ne.jp ocn.ne.jp hinet.net pchome.com.tw
rediffmail.com indiatimes.com walla.co.il walla.com netvision.net.il 012.net.il
aol.de aol.fr hotmail.com.au chello.cz chello.sk kabsi.at vtxnet.ch bouygtel.fr club-internet.fr
noos.fr tele2.fr tiscali.fr vodafone.it poste.it clix.pt hol.gr forthnet.gr suomi24.fi surffi.net
swipnet.se indamail.hu mailbox.hu post.sk pobox.sk szm.sk atlas.sk email.ro post.ro email.si
volja.net t.ht.hr zg.t-com.hr vip.hr xnet.hr bih.net.ba t.mk yaani.com email.ua
posta.si t-2.net telemach.net amis.net
webmail.co.za mweb.co.za telkomsa.net vodamail.co.za singnet.com.sg
"""
_RELAYING = """
privaterelay.appleid.com duck.com mozmail.com relay.firefox.com simplelogin.com simplelogin.co
simplelogin.fr slmail.me slmails.com aleeas.com 8alias.com 8shield.net dralias.com silomails.com
addy.io anonaddy.com anonaddy.me passmail.net passinbox.com passfwd.com
"""

RELAYS: frozenset[str] = frozenset(_RELAYING.split())
"""They make up an address for each place where somebody signs up, so it looks generated."""
PROVIDERS: frozenset[str] = frozenset(_WORLDWIDE.split()) | frozenset(_NATIONAL.split()) | RELAYS

# Registered domains of the servers that take the mail of companies, schools and people with a
# domain of their own: mailbox services, registrars, web hosts, and services that filter mail. Those
# that forward the mail of any number of domains for nothing are left out.
_HOSTING = """
google.com googlemail.com outlook.com office365.us microsoft.com mx-microsoft.com zoho.com zoho.eu
zoho.in zohomail.com icloud.com protonmail.ch proton.me fastmail.com messagingengine.com
yahoodns.net yandex.net mail.ru qq.com aliyun.com 163.com mxhichina.com naver.com ovh.net ovh.ca
ionos.com ionos.de ionos.co.uk ionos.fr ionos.es kundenserver.de 1and1.com 1and1.co.uk strato.de
rzone.de your-server.de hetzner.com hetzner.de kasserver.com all-inkl.com mailbox.org
domainfactory.de ispgateway.de udag.de hosteurope.de netcup.net goneo.de gandi.net infomaniak.ch
hostpoint.ch metanet.ch world4you.com easyname.eu one.com loopia.se simply.com domeneshop.no
binero.se transip.email transip.nl antagonist.nl combell.com mijndomein.nl secureserver.net
emailsrvr.com privateemail.com jellyfish.systems hostgator.com bluehost.com dreamhost.com
siteground.com sgvps.net mailspamprotection.com a2hosting.com hostinger.com titan.email
inmotionhosting.com migadu.com mxroute.com mxrouting.net mxlogin.com rackspace.com hover.com
tucows.com hostedemail.com networksolutionsemail.com register.com register.it aruba.it
serverplata.it home.pl nazwa.pl cyberfolks.pl forpsi.com active24.cz wedos.net websupport.sk
rackhost.hu locaweb.com.br kinghost.net umbler.com sakura.ne.jp xserver.jp muumuu-mail.com
lolipop.jp mimecast.com mimecast.co.za pphosted.com ppe-hosted.com proofpoint.com
barracudanetworks.com messagelabs.com iphmx.com cisco.com trendmicro.com trendmicro.eu
mailcontrol.com forcepoint.net hornetsecurity.com antispameurope.com sophos.com reflexion.net
mailanyone.net mtaroutes.com spamexperts.com antispamcloud.com spamtitan.com retarus.com
nospamproxy.com awsapps.com
"""
MAIL_HOSTS: frozenset[str] = frozenset(_HOSTING.split())

# Names directly below a country under which a registry gives out domains, as in `example.co.uk`.
_SUFFIXES = "ac co com edu go gob gov gv mil ne net nom or org sch"
_SHARED_SUFFIXES = frozenset(_SUFFIXES.split())


def is_provider(domain: str) -> bool:
    return domain in PROVIDERS or is_relay(domain)


def is_relay(domain: str) -> bool:
    """Some of them give each person a name below their own domain."""
    return domain in RELAYS or registered_domain(domain) in RELAYS


def is_mail_host(mx_domain: str) -> bool:
    """Whether anybody can have a domain's mail taken there."""
    return mx_domain in MAIL_HOSTS or mx_domain in PROVIDERS


def registered_domain(domain: str) -> str:
    """What its owner paid for; names below it are free. An approximation of the public suffix
    list: a wrong answer joins or splits a few domains, and nothing is decided by that alone."""
    labels = domain.rsplit(".", 3)[-3:]
    is_shared = len(labels) == 3 and len(labels[2]) == 2 and labels[1] in _SHARED_SUFFIXES
    return ".".join(labels if is_shared else labels[-2:])
